/** Creates a function that returns what `run` returns, or '' if it throws: an app's object may have getters that throw. */
export const attemptWith =
  (failWith: (error: unknown) => void) =>
  <T>(run: () => T): T | '' => {
    try {
      return run();
    } catch (error) {
      failWith(error);
      return '';
    }
  };
