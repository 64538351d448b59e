import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';
import { onSite, root } from './outside.ts';
import { home, sidebar, withLinks } from './pages.ts';

/** A small form of the ball in `demo/pages/clew.svg`, within the page: no request, and no file at the root of the site. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="none" stroke="#b3274a" stroke-width="2.4"><circle cx="16" cy="16" r="12"/><path d="M6 10c8-2 15 2 20 12M10 6c8 2 14 9 14 20M5 17c6-1 12 2 15 10"/></g></svg>',
)}`;

/** The tokens of Markdown that refer to a file, and the attribute that names it. */
const REFERENCES = { link_open: 'href', image: 'src' } as const;

const SEARCH_BOX = /role="button"(\s+:aria-owns="[^"]*")\s+aria-expanded="true"\s+aria-haspopup="listbox"/;

/** VitePress calls its search a button, within which screen readers announce neither the field nor the results, and labels plain keys. */
const searchDialog = {
  name: 'search-dialog',
  enforce: 'pre' as const,
  transform(code: string, id: string) {
    if (!id.endsWith('/VPLocalSearchBox.vue')) return undefined;
    if (!SEARCH_BOX.test(code))
      throw new Error('the search box of VitePress has changed: see whether it still needs this');
    return code
      .replace(SEARCH_BOX, 'role="dialog" aria-modal="true"$1')
      .replaceAll('<kbd :aria-label', '<kbd role="img" :aria-label');
  },
};

export default defineConfig({
  title: 'clew',
  description: 'A browser SDK that records what visitors do and delivers the events through your own relay.',
  lang: 'en',
  head: [['link', { rel: 'icon', href: ICON }]],
  // The list of modules that TypeDoc writes: the sidebar has it.
  srcExclude: ['api/modules.md'],
  rewrites: { 'README.md': 'index.md' },
  transformPageData: (page) => (page.relativePath === 'index.md' ? { frontmatter: home } : undefined),
  // Pages link to these pictures rather than show them.
  buildEnd: ({ srcDir, outDir }) => cp(join(srcDir, 'screenshots'), join(outDir, 'screenshots'), { recursive: true }),
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // The anchors that GitHub makes of headings.
    anchor: { slugify: (heading) => slug(heading) },
    config: (md) => {
      md.core.ruler.before('normalize', 'clew_reference', (state) => {
        if (state.env.relativePath?.startsWith('api/')) state.src = withLinks(state.src);
      });
      md.core.ruler.push('clew_references', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const name = REFERENCES[token.type as keyof typeof REFERENCES];
          const url = name && token.attrGet(name);
          if (name && url) token.attrSet(name, onSite(url, env.relativePath));
        }
      });
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      // A page that explains a word comes before the members that have it in their names.
      options: { miniSearch: { searchOptions: { boostDocument: (id: string) => (id.includes('/api/') ? 0.3 : 1) } } },
    },
    outline: [2, 3],
    nav: [
      { text: 'Quick start', link: '/start-html' },
      { text: 'Tracker', link: '/tracker' },
      { text: 'Relay', link: '/relay' },
      { text: 'API', link: '/api/' },
      { text: 'Changelog', link: '/project/changelog' },
    ],
    sidebar,
    docFooter: { prev: 'Previous page', next: 'Next page' },
  },
  vite: { server: { fs: { allow: [root] } }, plugins: [searchDialog] },
});
