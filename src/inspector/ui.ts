/** How many events are shown at a time, so that an open inspector does not slow the page down. */
export const PAGE = 50;

/** Least height of a row, in px. */
const ROW: Record<Part, number> = { events: 30, requests: 50, state: 0 };
/** So many rows below the edge are drawn, too: the keyboard may go there. */
const SPARE = 4;

/** How many rows of a part can be in sight, or above. The browser need not lay out and paint the others. */
export const rowsInSight = ({ scrolled, height }: Ui, part: 'events' | 'requests'): number =>
  Math.ceil((scrolled[part] + height) / ROW[part]) + SPARE;

/** Height (px) of the rows that are not drawn, for the scroll bar. */
export const heightOf = (rows: number, part: 'events' | 'requests'): number => rows * ROW[part];

/** The choices of the person who looks at the inspector. */
export interface Ui {
  /** Events whose row is open, by uuid. */
  readonly opened: Set<string>;
  /** The event whose row has the focus. */
  focused: string | undefined;
  /** How many events are shown. */
  shown: number;
  filter: string;
  /** Where there is room for one part only. */
  part: Part;
  isCollapsed: boolean;
  /** How far each part is scrolled, in px. */
  readonly scrolled: Record<Part, number>;
  /** Px: the inspector's height, and the greatest possible. */
  height: number;
  mostHeight: number;
  /** To be called when something of it is another one. */
  changed(): void;
}

export const PARTS = ['events', 'requests', 'state'] as const;
export type Part = (typeof PARTS)[number];
