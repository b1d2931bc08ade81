//! Chat templates that a stranger's checkpoint may bring to take the stack, the memory or the time
//! of whoever looks at it. The tests of the command share them.

/// A statement many times over.
fn times(n: usize, text: &str) -> String {
    text.repeat(n)
}

/// A name for each template, and the template.
pub(crate) fn templates() -> Vec<(&'static str, String)> {
    // A list that takes sixty statements to make, and forever to walk.
    let shared = |name: &str| {
        format!("{{% set {name} = [1] %}}")
            + &times(60, &format!("{{% set {name} = [{name}, {name}] %}}"))
    };
    let chain = |link: &str| format!("{{{{ a{} }}}}", times(90_000 / link.len(), link));
    vec![
        ("signs", format!("{{{{ {}1 }}}}", times(19_700, "-"))),
        ("sum", format!("{{{{ 1{} }}}}", times(40_000, "+1"))),
        ("nots", format!("{{{{ {}1 }}}}", times(20_000, "not "))),
        ("attributes", chain(".b")),
        ("filters", chain("|e")),
        ("wide_format", "{{ '{:>1000000000}'.format(1) }}".to_owned()),
        (
            "nested_json",
            "{% set n = namespace(l=[]) %}{% for a in range(9999) %}{% set n.l = [n.l, n.l] %}{% endfor %}\
             {{ n.l | tojson }}"
                .to_owned(),
        ),
        ("replace", "{{ ('a'*100000).replace('a', 'b'*100000) | length }}".to_owned()),
        ("branches", format!("{{% if a %}}{}{{% endif %}}", times(7_000, "{% elif a %}"))),
        ("subscripts", chain("[0]")),
        ("shared_list_printed", shared("a") + "{{ a }}"),
        ("shared_lists_compared", shared("a") + &shared("b") + "{{ a == b }}"),
        ("shared_list_as_key", shared("a") + "{{ {a: 1} | length }}"),
        ("namespace_in_itself", "{% set n = namespace() %}{% set n.x = n %}{{ n }}".to_owned()),
        (
            "namespaces_in_each_other",
            "{% set n = namespace() %}{% set m = namespace() %}{% set n.x = m %}{% set m.x = n %}{{ n == m }}"
                .to_owned(),
        ),
        ("doubled_list", "{% set s = [1] %}".to_owned() + &times(60, "{% set s = s + s %}") + "{{ s }}"),
        ("join", "{{ ('b'*100000).join('a'*100000) | length }}".to_owned()),
        ("strip", "{{ ('a'*1000000).strip('b'*1000000 ~ 'a') | length }}".to_owned()),
        (
            "separators",
            "{{ range(90000) | tojson(separators=('a'*100000, 'b')) | length }}".to_owned(),
        ),
        (
            "loops",
            "{% for a in range(99999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}".to_owned(),
        ),
        ("long", times(40_000, "{{ a }}{# #}")),
    ]
}
