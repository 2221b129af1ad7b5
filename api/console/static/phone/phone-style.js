// @ts-check
// The look of the phone. It takes the colours of the page, if that names them as the console does.

import { css } from "../vendored/lit.js";

export const phoneStyle = css`
  :host {
    --phone-surface: var(--surface, #ffffff);
    --phone-raised: var(--raised, #eef1f5);
    --phone-line: var(--line, #cfd6df);
    --phone-text: var(--text, #17202b);
    --phone-quiet: var(--quiet, #4f5d6d);
    --phone-accent: var(--accent, #0b5cad);
    --phone-on-accent: var(--on-accent, #ffffff);
    --phone-bad: var(--bad, #b3261e);
    --phone-good: var(--good, #0a6b3d);
    display: grid;
    gap: 0.8rem;
    max-width: 24rem;
    color: var(--phone-text);
    font: 0.9375rem/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  }
  section { background: var(--phone-surface); border: 1px solid var(--phone-line); border-radius: 8px; padding: 1rem; display: grid; gap: 0.8rem; }
  p, h2 { margin: 0; }
  h2 { font-size: 1.15rem; overflow-wrap: anywhere; }
  .row { display: flex; gap: 0.5rem; flex-wrap: wrap; align-items: end; }
  .spread { justify-content: space-between; align-items: center; }
  .grow { flex: 1 1 8rem; }
  label { display: grid; gap: 0.2rem; font-weight: 550; }
  input, select { font: inherit; padding: 0.4rem 0.5rem; border: 1px solid var(--phone-quiet); border-radius: 6px; background: var(--phone-surface); color: inherit; min-width: 0; }
  button { font: inherit; padding: 0.45rem 0.9rem; border: 1px solid var(--phone-line); border-radius: 6px; background: var(--phone-surface); color: inherit; cursor: pointer; }
  button:hover:not(:disabled) { background: var(--phone-raised); }
  button:disabled { color: var(--phone-quiet); cursor: not-allowed; }
  button[aria-pressed="true"] { border-color: var(--phone-accent); color: var(--phone-accent); font-weight: 600; }
  button.primary { background: var(--phone-accent); border-color: var(--phone-accent); color: var(--phone-on-accent); }
  button.primary:disabled { background: var(--phone-raised); border-color: var(--phone-line); color: var(--phone-quiet); }
  button.danger { color: var(--phone-bad); border-color: var(--phone-bad); }
  :focus-visible { outline: 2px solid var(--phone-accent); outline-offset: 2px; }
  .keys { display: grid; grid-template-columns: repeat(3, 1fr); gap: 0.4rem; }
  .keys button { padding: 0.7rem 0; font-size: 1.1rem; }
  .dot::before { content: ""; display: inline-block; width: 0.6rem; height: 0.6rem; border-radius: 50%; margin-right: 0.5rem; background: var(--phone-quiet); }
  .dot.ready::before { background: var(--phone-good); }
  .dot.lost::before { background: var(--phone-bad); }
  .quiet { color: var(--phone-quiet); }
  .problem { border-left: 4px solid var(--phone-bad); padding-left: 0.6rem; }
  .pressed { font-variant-numeric: tabular-nums; letter-spacing: 0.1em; min-height: 1.5em; }
  meter { width: 100%; }
  details > div { display: grid; gap: 0.6rem; padding-top: 0.6rem; }
`;
