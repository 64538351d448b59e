// Finds the browsers that are named (without names: Chromium), or installs them: Debian's packages, else Playwright's own.
import { execFileSync } from 'node:child_process';
import { findFirefox } from '../faults/engines/firefox.ts';
import { hasWebKit } from '../faults/engines/webkit.ts';
import { findChromium } from './chromium.ts';

interface Kind {
  isThere(): boolean;
  /** Debian's. */
  packages: string[];
  /** Whether the tests can drive Playwright's own build. */
  hasOwn: boolean;
}

const kinds: Record<string, Kind> = {
  chromium: {
    isThere: () => findChromium() !== undefined,
    packages: ['chromium', 'fonts-dejavu-core'],
    hasOwn: true,
  },
  firefox: {
    isThere: () => findFirefox() !== undefined,
    packages: ['firefox-esr', 'fonts-dejavu-core'],
    hasOwn: true,
  },
  webkit: {
    isThere: hasWebKit,
    packages: ['webkit2gtk-driver', 'xvfb', 'python3-gi', 'gir1.2-webkit2-4.1', 'fonts-dejavu-core'],
    hasOwn: false,
  },
};

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

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
if (missing[0] && isRoot) {
  const apt = ['-o', 'DPkg::Lock::Timeout=300'];
  const packages = missing.flatMap((name) => kinds[name]?.packages ?? []);
  if (tryTo('apt-get', [...apt, 'update'])) {
    const install = (names: string[]) =>
      tryTo('apt-get', [...apt, 'install', '-y', '--no-install-recommends', ...new Set(names)]);
    // One missing package fails the whole command. The others are worth a command each.
    if (!install(packages)) for (const name of missing) install(kinds[name]?.packages ?? []);
  }
}
for (const name of wanted.filter((one) => isMissing(one) && kinds[one]?.hasOwn)) {
  // `--with-deps` asks for a password where the user is not root.
  tryTo('npx', ['playwright', 'install', ...(isRoot ? ['--with-deps'] : []), name]);
}

const reasonOf = (name: string): string => {
  if (kinds[name]?.hasOwn) return 'it could not be installed';
  return process.platform === 'linux'
    ? `it needs root and apt-get install ${kinds[name]?.packages.join(' ')}`
    : 'its driver, WebKitWebDriver of WebKitGTK, is for Linux';
};
const there = wanted.filter((name) => !isMissing(name));
const skipped = wanted.filter(isMissing).map((name) => `${name} (${reasonOf(name)})`);
console.log(`Browsers: ${there.join(', ') || 'none'}${skipped[0] ? `. Skipped: ${skipped.join(', ')}` : ''}`);
if (wanted.includes('chromium') && isMissing('chromium')) {
  console.error('No Chromium found and none could be installed. Install one and set CHROMIUM to its path.');
  process.exit(1);
}
