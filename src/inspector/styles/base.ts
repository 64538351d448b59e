import { css } from 'lit';

/** Colours and type: of its own, whatever the page around it has. */
export const base = css`
  :host {
    all: initial;
    color-scheme: light dark;
    --paper: light-dark(#fffefc, #1b1816);
    --sunk: light-dark(#f6f3ee, #24201d);
    --ink: light-dark(#211e1b, #efeae4);
    --soft: light-dark(#655e56, #aca398);
    --line: light-dark(#e2ddd4, #3a342f);
    --edge: light-dark(#8f877c, #7c7369);
    --thread: light-dark(#b3274a, #ff8ba4);
    --good: light-dark(#1f6f4a, #71d3a3);
    --lost: light-dark(#9a4d00, #f5b366);
    --queue: light-dark(#2f62b5, #8db8ff);
    --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
    display: block;
    box-sizing: border-box;
    block-size: 100%;
    background: var(--paper);
    color: var(--ink);
    font: 13px / 1.45 system-ui, sans-serif;
    font-variant-numeric: tabular-nums;
    -webkit-text-size-adjust: 100%;
  }
  :host([docked]) {
    position: fixed;
    inset: auto 0 0;
    z-index: 2147483647;
    block-size: 400px;
    max-block-size: 100dvh;
    border-block-start: 1px solid var(--line);
    box-shadow: 0 -6px 24px rgb(30 20 10 / 14%);
  }
  :host([docked][collapsed]) {
    block-size: auto !important;
  }
  *,
  ::before,
  ::after {
    box-sizing: border-box;
  }
  h2,
  h3,
  h4,
  p,
  ol,
  dl,
  dd,
  pre,
  figure {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  h2 {
    font-size: 13px;
    font-weight: 650;
    white-space: nowrap;
  }
  h3 {
    font-size: 13px;
    font-weight: 650;
  }
  h4 {
    margin-block: 14px 3px;
    font-size: 12px;
    font-weight: 650;
  }
  code,
  pre {
    font: 12px / 1.5 var(--mono);
  }
  b {
    font-weight: 600;
  }
  i {
    font-style: normal;
  }
  .soft {
    color: var(--soft);
  }
  .good {
    color: var(--good);
  }
  .lost {
    color: var(--lost);
  }
  .unseen {
    position: absolute;
    clip-path: inset(50%);
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
  }
  :focus-visible {
    outline: 2px solid var(--thread);
    outline-offset: 1px;
  }
`;
