/** The link that a click follows, if it does: the middle button follows one, the right one does not. */
export const followedLink = (event: Event): HTMLAnchorElement | undefined => {
  const link = (event.composedPath() as HTMLAnchorElement[]).find(({ localName }) => /^(a|area)$/.test(localName));
  return (event as MouseEvent).button < 2 ? link : undefined;
};
