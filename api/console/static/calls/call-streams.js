// @ts-check
// The bots that a call talked with, as its record has them.

import { html, nothing } from "../vendored/lit.js";
import { streamCells } from "./stream-cells.js";

const TITLES = ["Bot", "Length", "Turns", "Latency", "Interruptions", "Ended"];

/** @param {any} record of a call; null: it is not known yet */
export function renderStreams(record) {
  if (!record?.streams?.length) return nothing;
  return html`
    <h2 id="streams">Bots</h2>
    <div class="scroll section">
      <table class="stacked" aria-labelledby="streams">
        <thead><tr>${TITLES.map((each) => html`<th scope="col">${each}</th>`)}</tr></thead>
        <tbody>${record.streams.map(row)}</tbody>
      </table>
    </div>
  `;
}

/** @param {any} stream */
function row(stream) {
  const { kind, ...cells } = streamCells(stream);
  const texts = Object.values(cells);
  return html`<tr>
    ${texts.map((text, column) => html`<td data-title=${TITLES[column]} class=${text ? "" : "vacant"}>
      ${column === texts.length - 1 && kind ? html`<span class="tag ${kind}">${text}</span>` : text}
    </td>`)}
  </tr>`;
}
