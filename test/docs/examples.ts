import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Block, read, root } from './markdown.ts';

/** Declarations that examples in docstrings leave out, on one line, so that line numbers stay those of the source. */
const PRELUDE = [
  "import * as clew_ from 'clew'",
  "import { browserContext, checkEvents, clicks, cookieDomain, createTracker, firstTouch, linkDomains, pageViews, redactUrls } from 'clew'",
  "import { createMemoryStore, createTestTracker, rehearse, type TestTransport } from 'clew/testing'",
  "import { createService } from 'clew/service'",
  "import { catalogue, createRelay, memorySeen, type Relay, signIdentity, signPrimaryKey, toNodeHandler } from 'clew/relay'",
  "import { useIdentity, useTracker } from 'clew/vue'",
  "import { inspect } from 'clew/inspector'",
  "import { consentMode, cookiebot, followConsent, oneTrust, tcf } from 'clew/consent'",
  "import { engagement, exclude, forms, renewTokens, sessions } from 'clew/plugins'",
  "import * as http from 'node:http'",
  "import { expect } from 'vitest'",
  'declare const relay: Relay',
  'declare const events: object',
  'declare const service: TestTransport',
  'declare const user: { id: string; email: string }',
  'type Events = AppEvents',
  'type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => unknown',
  'type Route = (c: { req: { raw: Request } }) => Promise<Response>',
  'declare const app: { use(path: string, handle: Handler): void; all(path: string, handle: Route): void }',
  'declare const z: { object(shape: object): clew_.StandardSchema; string(): clew_.StandardSchema }',
].join('; ');

const examplesOf = (file: string): Block[] => {
  const found: Block[] = [];
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.ES2022, true);
  const visit = (node: ts.Node): void => {
    for (const tag of ts.getJSDocTags(node)) {
      if (tag.parent.parent !== node || tag.tagName.text !== 'example') continue;
      const code = (ts.getTextOfJSDocComment(tag.comment) ?? '').replace(/^export /, '');
      const { line } = source.getLineAndCharacterOfPosition(tag.getStart());
      // An object, a function and a value are not statements.
      const text = /^(\(|'|\{)/.test(code) ? `void (${code});` : code;
      found.push({ file, line: line + 1, lang: 'ts', text: `${PRELUDE}; {${text}\n}` });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

/** The examples of all docstrings in `src`. */
export const examples: readonly Block[] = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.ts$/.test(file))
  .flatMap((file) => examplesOf(`src/${file}`));
