/** @throws TypeError unless the option is a number of ms from `least` on */
export const checkMs = (name: string, value: unknown, least: 0 | 1): void => {
  if (typeof value !== 'number' || !(value >= least))
    throw new TypeError(`clew: ${name}: expected a number of ms, ${least} or more`);
};
