import { parseArgs } from 'node:util';

type Flags = Record<string, { type: 'string'; default?: string } | { type: 'boolean'; default: boolean }>;

/**
 * Reads a command's arguments. Ends the process with the usage if one is unknown, or no positive whole number where `count`
 * asks for one. `fail` does that, too.
 */
export const readArguments = <F extends Flags>(usage: string, options: F) => {
  const fail = (message: string): never => {
    console.error(`${message}\n${usage}`);
    process.exit(2);
  };
  const parse = () => {
    try {
      return parseArgs({ options }).values as Partial<Record<string, string | boolean>>;
    } catch (error) {
      return fail(error instanceof Error ? error.message : String(error));
    }
  };
  const given = parse();
  const count = (name: keyof F & string): number => {
    const value = Number(given[name]);
    return Number.isSafeInteger(value) && value > 0 ? value : fail(`--${name}: expected 1, 2, …, not ${given[name]}`);
  };
  return { given, count, fail };
};
