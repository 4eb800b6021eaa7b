// A prediction question: the answer and its reason are built only once the reader has answered.

import { make, mount, rich } from "./dom.js";

// "1,000", "1 000", "1_000", "1e3" and "24 %" are numbers to a reader.
export function parseNumber(text) {
  const plain = text
    .trim()
    .replace(/[,_\s]/g, "")
    .replace(/%$/, "");
  return plain === "" ? NaN : Number(plain);
}

export const isRight = (given, answer, within) => Math.abs(given - answer) <= within;

const words = (number) => number.toLocaleString("en-GB", { maximumSignificantDigits: 12 });

function askChoice({ choices, right }, tell) {
  const buttons = choices.map((choice, number) =>
    make(
      "button",
      { type: "button", "data-mark": "○", onclick: () => choose(number) },
      make("span", {}, ...rich(choice)),
    ),
  );
  function choose(number) {
    if (buttons[0].hasAttribute("aria-disabled")) return;
    buttons[number].dataset.mark = "✗";
    buttons[right].dataset.mark = "✓";
    buttons[right].setAttribute("aria-description", "the right answer");
    for (const button of buttons) button.setAttribute("aria-disabled", "true");
    buttons[number].setAttribute("aria-pressed", "true");
    tell(number === right, [choices[right]]);
  }
  return make("div", { class: "choices", role: "group", "aria-labelledby": "q" }, ...buttons);
}

function askNumber({ answer, within, unit }, tell, say) {
  const box = make("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    "aria-labelledby": "q",
    id: "number",
  });
  const button = make("button", { type: "submit" }, "Answer");
  const onsubmit = (event) => {
    event.preventDefault();
    if (box.readOnly) return;
    const given = parseNumber(box.value);
    if (Number.isNaN(given)) return say("Type a number first.");
    box.readOnly = true;
    button.setAttribute("aria-disabled", "true");
    tell(isRight(given, answer, within), [words(answer), unit && ` ${unit}`]);
  };
  return make("form", { onsubmit }, box, ...(unit ? [make("span", {}, unit)] : []), button);
}

export function ask(host, styles, question) {
  const verdict = make("div", { class: "verdict", role: "status" });
  const say = (...parts) => verdict.replaceChildren(make("p", {}, ...parts));
  const tell = (isTrue, answer) => {
    const grade = isTrue ? "right" : "wrong";
    say(
      make("strong", { "data-grade": grade }, isTrue ? "Right: " : "Not so. It is: "),
      ...answer.flatMap((part) => rich(part)),
      answer.join("").endsWith(".") ? " " : ". ",
      ...rich(question.because),
    );
  };
  const kind = question.choices ? askChoice : askNumber;
  const title = make("p", { class: "question", id: "q" }, ...rich(question.question));
  mount(host, styles, title, kind(question, tell, say), verdict);
}
