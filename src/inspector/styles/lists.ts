import { css } from 'lit';

/** Styles of events with the line through their stations, of requests and of facts. */
export const lists = css`
  .events summary,
  .head {
    display: grid;
    grid-template-columns: 88px minmax(0, 1fr) 240px 136px;
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
      grid-template-columns: 88px minmax(0, 1fr) auto;
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
