//! The driver, the matcher and the jail: named cases, a naive oracle, and the laws.

mod agree;
mod bodies;
mod candidates;
mod channels;
mod jail;
mod jail_limits;
#[cfg(feature = "regex")]
mod jail_patterns;
mod jail_spec;
#[cfg(feature = "regex")]
mod laws;
mod machines;
mod markers;
mod naive;
mod naive_code;
mod naive_jail;
mod naive_plain;
mod naive_space;
mod oracle;
mod random;
mod random_jail;
mod reasoning;
mod server_items;
mod tables;
