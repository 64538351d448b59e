// Finds the named browsers (by default Chromium), or installs them from Debian's packages, else from Playwright.
import { execFileSync } from 'node:child_process';
import { isMissing, kinds, missingAmong, refuse } from './browsers.ts';

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

const missing = wanted.filter(isMissing);
if (missing[0] && isRoot) {
  const apt = ['-o', 'DPkg::Lock::Timeout=300'];
  const packages = missing.flatMap((name) => kinds[name]?.packages ?? []);
  if (tryTo('apt-get', [...apt, 'update'])) {
    const install = (names: string[]) =>
      tryTo('apt-get', [...apt, 'install', '-y', '--no-install-recommends', ...new Set(names)]);
    // One unknown package fails the whole command. Then each package gets a command of its own.
    if (!install(packages)) for (const name of missing) install(kinds[name]?.packages ?? []);
  }
}
for (const name of wanted.filter((one) => isMissing(one) && kinds[one]?.hasOwn)) {
  // `--with-deps` asks for a password where the user is not root.
  tryTo('npx', ['playwright', 'install', ...(isRoot ? ['--with-deps'] : []), name]);
}

const there = wanted.filter((name) => !isMissing(name));
const skipped = missingAmong(wanted);
console.log(`Browsers: ${there.join(', ') || 'none'}${skipped[0] ? `. Skipped: ${skipped.join(', ')}` : ''}`);
const refusal = refuse(skipped, process.env.CI === 'true');
if (refusal) {
  console.error(refusal);
  process.exit(1);
}
