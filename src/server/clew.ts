#!/usr/bin/env node
/** `npx clew catalogue`: docs/catalogue.md. */
import { HELP, runCatalogue } from './catalogue.js';

const [command, ...args] = process.argv.slice(2);
const output = {
  log: (text: string) => void process.stdout.write(text),
  warn: (text: string) => console.error(`clew catalogue: ${text}`),
};

try {
  if (command === 'catalogue') process.exitCode = await runCatalogue(args, process.cwd(), output);
  else {
    const isAsked = command === undefined || command === '--help' || command === '-h';
    (isAsked ? process.stdout : process.stderr).write(HELP);
    process.exitCode = isAsked ? 0 : 2;
  }
} catch (error) {
  console.error(`clew catalogue: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 2;
}
