import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the longest first. */
const LONGEST = [
  'package.test.ts',
  'sim/mutants.test.ts',
  'relay/receipts.test.ts',
  'collector/databases.test.ts',
  'relay/limits.test.ts',
  'docs/code.test.ts',
  'sim/relays.test.ts',
  'relay/tokens.test.ts',
  'testing/rehearse.test.ts',
  'plugins/renewTokens.test.ts',
  'docs/reference.test.ts',
  'sim/books.test.ts',
  'tracker/consent.test.ts',
  'broker/worker.test.ts',
  'sim/fixed.test.ts',
  'collector/fuzz.test.ts',
  'server/clew-relay.test.ts',
  'install.test.ts',
  'mangle.test.ts',
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex((file) => moduleId.endsWith(`/test/${file}`));
  return rank < 0 ? LONGEST.length : rank;
};
/** Workers are kept from file to file only while the next file is of the same project, so projects stay together. */
const PROJECTS = ['shared', 'pages', 'isolated'];
const placeOf = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name);

/** Starts the longest files first, since a long file at the end leaves a worker idle. Vitest goes by the size of files. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b) || rankOf(a) - rankOf(b));
  }
}
