import { css } from 'lit';

/** The bar at the top, the handle above it, and the places of the parts. */
export const frame = css`
  .inspector {
    display: grid;
    grid-template-rows: auto minmax(0, 1fr);
    grid-template-columns: minmax(0, 1fr);
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
    flex-wrap: wrap;
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
    gap: 4px 8px;
  }
  .is-narrow .actions button {
    padding-inline: 7px;
  }
  .is-narrow .format {
    display: none;
  }
  .is-narrow .part {
    padding-block-start: 8px;
  }
  .is-narrow .actions {
    margin-inline-start: auto;
  }
  .is-narrow header .chip {
    display: none;
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
