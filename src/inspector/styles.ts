import { css } from 'lit';

/** Colours and type: of its own, whatever the page around it has. */
const base = css`
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

/** The bar at the top, the handle above it, and the places of the parts. */
const frame = css`
  .inspector {
    display: grid;
    grid-template-rows: auto minmax(0, 1fr);
    block-size: 100%;
  }
  .inspector.is-narrow {
    grid-template-rows: auto auto minmax(0, 1fr);
  }
  .handle {
    position: absolute;
    inset: -5px 0 auto;
    block-size: 10px;
    cursor: ns-resize;
    touch-action: none;
  }
  .handle::after {
    content: "";
    position: absolute;
    inset: 3px calc(50% - 22px) auto;
    block-size: 4px;
    border-radius: 2px;
    background: var(--edge);
  }
  .handle:is(:hover, :focus-visible)::after {
    background: var(--thread);
  }
  header {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 18px;
    padding: 7px 10px 7px 14px;
    border-block-end: 1px solid var(--line);
    background: var(--sunk);
  }
  .title {
    display: flex;
    align-items: center;
    gap: 7px;
  }
  .title svg {
    inline-size: 18px;
    block-size: 18px;
    color: var(--thread);
  }
  .sum {
    display: flex;
    flex-wrap: wrap;
    gap: 0 6px;
    margin-inline-end: auto;
    white-space: nowrap;
  }
  .sum b {
    font-size: 14px;
  }
  .chip {
    display: flex;
    align-items: center;
    gap: 6px;
    border: 1px solid var(--line);
    border-radius: 99px;
    padding: 1px 10px;
    background: var(--paper);
    font-size: 12px;
    white-space: nowrap;
  }
  .chip::before {
    content: "";
    inline-size: 7px;
    block-size: 7px;
    border-radius: 50%;
    background: currentColor;
  }
  .actions {
    display: flex;
    gap: 4px;
  }
  button {
    border: 1px solid transparent;
    border-radius: 6px;
    padding: 3px 9px;
    background: none;
    color: var(--ink);
    font: inherit;
    cursor: pointer;
  }
  button:hover {
    background: color-mix(in srgb, var(--ink) 8%, transparent);
  }
  .actions button,
  .more {
    border-color: var(--line);
    background: var(--paper);
  }
  .parts {
    display: grid;
    grid-template-columns: minmax(0, 1.7fr) minmax(0, 1fr) 304px;
    min-block-size: 0;
  }
  .is-narrow :is(h3, .requests-bar, .state-bar) {
    position: absolute;
    clip-path: inset(50%);
  }
  .is-narrow input {
    inline-size: 100%;
  }
  .is-narrow header {
    padding-inline-start: 14px;
  }
  .is-narrow .actions {
    margin-inline-start: auto;
  }
  .is-narrow .sum {
    order: 1;
    inline-size: 100%;
  }
  .is-narrow .parts {
    grid-template-columns: minmax(0, 1fr);
  }
  .part {
    min-inline-size: 0;
    overflow-y: auto;
    overscroll-behavior: contain;
    scrollbar-width: thin;
    scrollbar-color: var(--edge) transparent;
    padding: 0 14px 14px;
    container-type: inline-size;
  }
  .part + .part {
    border-inline-start: 1px solid var(--line);
  }
  .tabs {
    display: flex;
    gap: 2px;
    padding: 0 8px;
    border-block-end: 1px solid var(--line);
    background: var(--sunk);
  }
  .tabs .chip {
    align-self: center;
    margin-inline-start: auto;
  }
  .tabs button {
    border-width: 0 0 2px;
    border-radius: 0;
    padding: 6px 10px;
    color: var(--soft);
  }
  .tabs [aria-selected="true"] {
    border-color: var(--thread);
    color: var(--ink);
    font-weight: 600;
  }
  .bar {
    position: sticky;
    inset-block-start: 0;
    z-index: 2;
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: 10px;
    margin-inline: -14px;
    padding: 8px 14px 6px;
    min-block-size: 40px;
    background: var(--paper);
  }
  input {
    inline-size: 180px;
    min-inline-size: 0;
    border: 1px solid var(--edge);
    border-radius: 6px;
    padding: 2px 8px;
    background: var(--paper);
    color: var(--ink);
    font: inherit;
  }
  input::placeholder {
    color: var(--soft);
    opacity: 1;
  }
  .note,
  .empty {
    color: var(--soft);
    max-inline-size: 60ch;
  }
  .note {
    margin-block: 4px 8px;
    border-inline-start: 2px solid var(--lost);
    padding-inline-start: 8px;
  }
  .empty {
    padding-block: 6px;
  }
  .more {
    margin-block: 8px;
  }
`;

/** Events with the thread that runs through the stations of each, requests, and facts. */
const lists = css`
  .events summary,
  .head {
    display: grid;
    grid-template-columns: 82px minmax(0, 1fr) 240px 136px;
    align-items: center;
    gap: 0 10px;
  }
  .head {
    color: var(--soft);
    font-size: 11px;
  }
  .head .way {
    grid-column: 3;
  }
  .events summary {
    margin-inline: -8px;
    border-radius: 6px;
    padding: 3px 8px;
    cursor: pointer;
    list-style: none;
  }
  .events summary::-webkit-details-marker {
    display: none;
  }
  .events summary:hover,
  .events details[open] > summary {
    background: var(--sunk);
  }
  .name {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .way {
    display: grid;
    grid-template-columns: 8px repeat(3, minmax(0, 1fr));
  }
  .head .way {
    text-align: end;
  }
  .head .way i:first-child {
    justify-self: start;
  }
  .node {
    position: relative;
    min-block-size: 24px;
  }
  .node::before {
    content: "";
    position: absolute;
    inset: auto 4px 5px -4px;
    border-block-start: 2px dotted var(--line);
  }
  .node:first-child::before {
    display: none;
  }
  .node.is-reached::before {
    border-block-start: 2px solid var(--thread);
  }
  .node::after {
    content: "";
    position: absolute;
    inset: auto 0 2px auto;
    inline-size: 8px;
    block-size: 8px;
    border: 2px solid var(--edge);
    border-radius: 50%;
    background: var(--paper);
    z-index: 1;
  }
  .node:first-child::after {
    inset-inline: 0 auto;
  }
  .node.is-seen::after {
    border-color: var(--thread);
    background: var(--thread);
  }
  .node.is-seen.is-lost::after {
    border-color: var(--lost);
    border-radius: 0;
    background: var(--lost);
    rotate: 45deg;
  }
  .after {
    position: absolute;
    inset: -1px 0 auto auto;
    padding-inline-end: 13px;
    color: var(--soft);
    font-size: 11px;
    white-space: nowrap;
  }
  .end {
    overflow-wrap: anywhere;
  }
  .detail {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(0, 1.2fr);
    gap: 10px 16px;
    padding: 6px 0 14px;
  }
  .detail > pre {
    max-block-size: 240px;
    overflow: auto;
    border: 1px solid var(--line);
    border-radius: 6px;
    padding: 8px 10px;
    background: var(--sunk);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .steps,
  .detail .lost {
    margin-block-end: 8px;
  }
  .steps li,
  .detail .facts {
    display: grid;
    grid-template-columns: 74px minmax(0, 1fr);
  }
  .steps li > :first-child {
    color: var(--soft);
  }
  .facts {
    display: grid;
    grid-template-columns: 108px minmax(0, 1fr);
    gap: 1px 8px;
  }
  .detail .facts {
    gap: 0;
  }
  .facts dt {
    color: var(--soft);
  }
  .facts dd {
    overflow-wrap: anywhere;
  }
  .requests li {
    border-block-start: 1px solid var(--line);
    padding-block: 6px;
  }
  .requests li:first-child {
    border: 0;
    padding-block-start: 0;
  }
  .line {
    overflow-wrap: anywhere;
  }
  .message {
    max-block-size: 7.2em;
    overflow: hidden;
    color: var(--soft);
    font: 12px / 1.5 var(--mono);
    overflow-wrap: anywhere;
  }
  figcaption {
    display: flex;
    gap: 14px;
    color: var(--soft);
    font-size: 11px;
  }
  figcaption :last-child {
    margin-inline-start: auto;
  }
  .swatch {
    display: inline-block;
    inline-size: 9px;
    block-size: 9px;
    border-radius: 2px;
    margin-inline-end: 5px;
    background: currentColor;
  }
  .colour-tracked {
    color: var(--thread);
  }
  .colour-queued {
    block-size: 3px;
    margin-block-end: 3px;
    color: var(--queue);
  }
  .colour-line {
    color: var(--line);
  }
  .chart {
    block-size: 96px;
    overflow: hidden;
  }
  .errors li {
    overflow-wrap: anywhere;
  }
  @container (max-width: 620px) {
    .head {
      display: none;
    }
    .events summary {
      grid-template-columns: 82px minmax(0, 1fr) auto;
      padding-block: 6px;
    }
    .events time {
      grid-area: 2 / 1;
    }
    .name {
      grid-area: 1 / 1 / auto / span 2;
    }
    .events .way {
      grid-area: 2 / 2 / auto / span 2;
    }
    .end {
      grid-area: 1 / 3;
      text-align: end;
    }
    .detail {
      grid-template-columns: minmax(0, 1fr);
    }
  }
`;

/** What uPlot's own style sheet says of the parts that are used here. */
const plot = css`
  .uplot {
    inline-size: min-content;
  }
  .u-wrap {
    position: relative;
    user-select: none;
  }
  .u-over,
  .u-under,
  .u-axis {
    position: absolute;
  }
  .u-under {
    overflow: hidden;
  }
  .uplot canvas {
    display: block;
    position: relative;
    inline-size: 100%;
    block-size: 100%;
  }
  .u-select,
  .u-off {
    display: none;
  }
`;

export const styles = [base, frame, lists, plot];
