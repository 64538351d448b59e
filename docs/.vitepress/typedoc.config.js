/** The API reference as Markdown, for the site. `typedoc.json` lists its entries. */
export default {
  extends: ['../../typedoc.json'],
  plugin: ['typedoc-plugin-markdown'],
  out: '../api',
  outputFileStrategy: 'modules',
  entryFileName: 'modules',
  // The names of the package's entries, as an app imports them.
  pageTitleTemplates: { module: ({ name }) => (name === 'index' ? 'clew' : `clew/${name}`) },
  hidePageHeader: true,
  hideBreadcrumbs: true,
  // Not the members that the inspector's element has from HTMLElement.
  excludeExternals: true,
  groupOrder: ['Functions', 'Variables', 'Classes', 'Interfaces', 'Type Aliases'],
  useCodeBlocks: true,
  parametersFormat: 'table',
  propertyMembersFormat: 'table',
  useHTMLEncodedBrackets: true,
  sanitizeComments: true,
};
