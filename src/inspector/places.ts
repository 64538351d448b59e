/** Docked inspectors share the page's lower edge from left to right, so that each of them can be used. */
export const placeDocked = (docked: readonly Pick<HTMLElement, 'style'>[]): void => {
  const width = 100 / docked.length;
  for (const [index, { style }] of docked.entries()) {
    // By the CSSOM, which no Content-Security-Policy forbids.
    style.left = `${index * width}%`;
    style.right = `${(docked.length - 1 - index) * width}%`;
  }
};

/** The first one has no number, because mostly it is the only one. */
export const nameOf = (index: number): string => (index > 0 ? `clew inspector ${index + 1}` : 'clew inspector');
