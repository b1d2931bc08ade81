"use client";
import { useEffect, useState } from "react";

import { answer } from "../answer.js";

export function Client() {
  const [text, setText] = useState("none");
  useEffect(() => {
    answer().then(setText, (error) => setText(String(error)));
  }, []);
  return <p id="answer">{text}</p>;
}
