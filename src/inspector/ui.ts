/** So many events at a time: a page is not to be slow because somebody looks at it. */
export const PAGE = 50;

/** What somebody has chosen to see. */
export interface Ui {
  /** Events whose row is open, by uuid. */
  readonly opened: Set<string>;
  /** How many events are shown. */
  shown: number;
  filter: string;
  /** Where there is room for one part only. */
  part: Part;
  isCollapsed: boolean;
  /** To be called when something of it is another one. */
  changed(): void;
}

export const PARTS = ['events', 'requests', 'state'] as const;
export type Part = (typeof PARTS)[number];
