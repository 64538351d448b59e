/** Functions that take a message for people: each reports an error, or is the error. */
const REPORTERS = new Set(['Error', 'TypeError', 'fail', 'onTrouble', 'expect']);

const isMessage = (path) =>
  (path.isStringLiteral() || path.isTemplateLiteral()) &&
  (path.parentPath?.isCallExpression() || path.parentPath?.isNewExpression()) &&
  REPORTERS.has(path.parent.callee.name);

/** The wording of error messages is no behaviour: tests that pin every word would break with every better word. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'messages',
    value: { shouldIgnore: (path) => (isMessage(path) ? 'The wording of a message is no behaviour.' : undefined) },
  },
];
