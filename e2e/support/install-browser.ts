// Finds the browsers that are named (without names: Chromium), or installs them: Debian's packages, else Playwright's own.
import { execFileSync } from 'node:child_process';
import { findFirefox } from '../faults/engines/firefox.ts';
import { hasWebKit } from '../faults/engines/webkit.ts';
import { findChromium } from './chromium.ts';

interface Kind {
  isThere(): boolean;
  packages: string[];
}

const kinds: Record<string, Kind> = {
  chromium: { isThere: () => findChromium() !== undefined, packages: ['chromium', 'fonts-dejavu-core'] },
  firefox: { isThere: () => findFirefox() !== undefined, packages: ['firefox-esr', 'fonts-dejavu-core'] },
  webkit: {
    isThere: hasWebKit,
    packages: ['webkit2gtk-driver', 'xvfb', 'python3-gi', 'gir1.2-webkit2-4.1', 'fonts-dejavu-core'],
  },
};

const tryTo = (command: string, args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
    return true;
  } catch {
    return false;
  }
};

const named = process.argv.slice(2);
const wanted = named[0] ? named : ['chromium'];
const isMissing = (name: string): boolean => !kinds[name]?.isThere();

const missing = wanted.filter(isMissing);
if (missing[0] && process.platform === 'linux' && process.getuid?.() === 0) {
  const apt = ['-o', 'DPkg::Lock::Timeout=300'];
  const packages = missing.flatMap((name) => kinds[name]?.packages ?? []);
  if (tryTo('apt-get', [...apt, 'update'])) {
    // One by one, should all at once not go: what can be had is better than nothing.
    const install = (names: string[]) =>
      tryTo('apt-get', [...apt, 'install', '-y', '--no-install-recommends', ...new Set(names)]);
    if (!install(packages)) for (const name of missing) install(kinds[name]?.packages ?? []);
  }
}
if (wanted.includes('chromium') && isMissing('chromium')) {
  tryTo('npx', ['playwright', 'install', '--with-deps', 'chromium']);
}

for (const name of wanted) console.log(`${name}: ${isMissing(name) ? 'cannot be installed here, left out' : 'there'}`);
if (wanted.includes('chromium') && isMissing('chromium')) {
  console.error('No Chromium found and none could be installed. Install one and set CHROMIUM to its path.');
  process.exit(1);
}
