import vm from 'node:vm';

/** A script that runs again and again, each time with the globals of another page or process. */
export type Program = (globals: Readonly<Record<string, unknown>>) => unknown;

type Compiled = (this: unknown, ...values: unknown[]) => unknown;

/**
 * The context of all programs. The context has `Array`, `Promise` and the like, and no API of Node. The context's global object
 * takes no properties, because all programs would see a name that one program assigns without declaring it.
 */
const SHARED = vm.createContext(vm.constants.DONT_CONTEXTIFY as never);
vm.runInContext('Object.preventExtensions(globalThis)', SHARED);

/**
 * Compiles the code once, as a function whose parameters are the globals, so that V8 optimises it across all pages and
 * walks. In a context for each page, every page would begin with code that has never run.
 *
 * @param code the body of a function: it may return something
 */
export const createProgram = (code: string, filename: string): Program => {
  const compiled = new Map<string, Compiled>();
  return (globals) => {
    const names = Object.keys(globals);
    const key = names.join();
    const run =
      compiled.get(key) ?? (vm.compileFunction(code, names, { filename, parsingContext: SHARED }) as Compiled);
    compiled.set(key, run);
    return run.apply(
      globals.window,
      names.map((name) => globals[name]),
    );
  };
};
