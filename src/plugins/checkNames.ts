/**
 * @param names the names of all options. The compiler checks that they are whole.
 * @throws TypeError for an option of another name: a misspelt one would have no effect, unnoticed
 */
export const checkNames = <Options extends object>(options: Options, names: Record<keyof Options, 1>): void => {
  // The tracker itself is no options: the app has not called the plugin. page/plugins.ts reports that.
  if ('trackNow' in options) return;
  for (const name of Object.keys(options))
    if (!Object.hasOwn(names, name))
      throw new TypeError(`clew: ${name}: expected one of ${Object.keys(names).join(', ')}`);
};
