import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';

const group = (text: string, items: [text: string, page: string][], collapsed = false): DefaultTheme.SidebarItem => ({
  text,
  collapsed,
  items: items.map(([name, page]) => ({ text: name, link: `/${page}` })),
});

/** Every page of the site but the first, in the order in which a newcomer needs them. */
export const sidebar: DefaultTheme.SidebarItem[] = [
  group('Quick start', [
    ['Plain HTML', 'start-html'],
    ['React', 'start-react'],
    ['Vue', 'start-vue'],
    ['Next.js', 'start-next'],
    ['Nuxt', 'start-nuxt'],
    ['Astro', 'start-astro'],
    ['SvelteKit', 'start-sveltekit'],
    ['Angular', 'start-angular'],
  ]),
  group('Set up', [
    ['Overview', 'project/readme'],
    ['Script tag', 'script-tag'],
    ['React', 'react'],
    ['Vue', 'vue'],
    ['Other frameworks', 'frameworks'],
    ['Rendering on a server', 'ssr'],
    ['Migrating', 'migrating'],
  ]),
  group('Use', [
    ['Tracker', 'tracker'],
    ['Events and types', 'events'],
    ['Event catalogue', 'catalogue'],
    ['Page views and clicks', 'without-code'],
    ['Plugins', 'plugins'],
    ['Engagement', 'engagement'],
    ['Sessions', 'sessions'],
    ['Forms', 'forms'],
    ['Exclude your own traffic', 'exclusion'],
    ['Privacy and consent', 'privacy'],
    ['Consent platforms', 'consent-platforms'],
    ['Inspector', 'inspector'],
    ['Testing your app', 'testing'],
    ['Rehearse a journey', 'rehearsal'],
    ['Troubleshooting', 'troubleshooting'],
    ['Questions and answers', 'faq'],
  ]),
  group('Operate', [
    ['Relay', 'relay'],
    ['Identity tokens', 'identity'],
    ['Proxies', 'proxies'],
    ['Delivery', 'delivery'],
    ['Direct use', 'direct'],
    ['Server events', 'service'],
    ["The service's interface", 'interface'],
    ['Collector', 'collector'],
    ['Broker', 'project/broker'],
  ]),
  group('Compare', [
    ['Comparison', 'comparison'],
    ['Benchmarks', 'benchmarks'],
    ['All figures', 'project/figures'],
  ]),
  group('API reference', [
    ['clew', 'api/index'],
    ['clew/react', 'api/react'],
    ['clew/vue', 'api/vue'],
    ['clew/relay', 'api/relay'],
    ['clew/consent', 'api/consent'],
    ['clew/plugins', 'api/plugins'],
    ['clew/service', 'api/service'],
    ['clew/testing', 'api/testing'],
    ['clew/inspector', 'api/inspector'],
    ['clew/global', 'api/global'],
  ]),
  group('Look up', [
    ['Browser support', 'browsers'],
    ['Versions and support', 'versions'],
    ['Glossary', 'glossary'],
  ]),
  group(
    'Project',
    [
      ['Changelog', 'project/changelog'],
      ['Architecture', 'project/architecture'],
      ['Contributing', 'project/contributing'],
      ['Releases', 'project/releasing'],
      ['Security', 'project/security'],
      ['Licence', 'project/licence'],
    ],
    true,
  ),
];

const names = new Map(sidebar.flatMap(({ items = [] }) => items).map(({ link, text }) => [link, text]));

/** The API reference with links in place of the files that docstrings name for readers of the source. */
export const withLinks = (reference: string): string =>
  reference.replace(/(?<![\w/.])docs\/([\w-]+)\.md/g, (file, page) => {
    const name = names.get(`/${page}`);
    return name ? `[${name}](../${page}.md)` : file;
  });

/** The ball of thread of `demo/pages/clew.svg`, within the page: no request, and nothing moves when it arrives. */
const ball = `data:image/svg+xml,${encodeURIComponent(
  readFileSync(join(import.meta.dirname, '../../demo/pages/clew.svg'), 'utf8'),
)}`;

/** The top of the start page. `docs/README.md` follows it. */
export const home = {
  layout: 'home',
  hero: {
    name: 'clew',
    text: 'Events that arrive',
    tagline: 'A browser SDK that stores each event, retries it, and delivers it through your own relay.',
    image: { src: ball, alt: '' },
    actions: [
      { theme: 'brand', text: 'First event', link: '/start-html' },
      { theme: 'alt', text: 'API reference', link: '/api/' },
    ],
  },
};
