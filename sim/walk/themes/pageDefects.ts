import type { Defect } from '../defects.ts';

/** Defects that walks of the theme `pages` have found. */
export const pageDefects: readonly Defect[] = [];
