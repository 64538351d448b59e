// Finds a Chromium for the end-to-end tests or installs one: Playwright's own, else Debian's package.
import { execFileSync } from 'node:child_process';
import { findChromium } from './chromium.ts';

const tryTo = (command: string, args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
    return true;
  } catch {
    return false;
  }
};

if (!findChromium()) {
  const apt = ['-o', 'DPkg::Lock::Timeout=300'];
  const isInstalled =
    (process.platform === 'linux' &&
      tryTo('apt-get', [...apt, 'update']) &&
      tryTo('apt-get', [...apt, 'install', '-y', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'])) ||
    tryTo('npx', ['playwright', 'install', '--with-deps', 'chromium']);
  if (!isInstalled || !findChromium()) {
    console.error('No Chromium found and none could be installed. Install one and set CHROMIUM to its path.');
    process.exit(1);
  }
}
console.log(`Chromium: ${findChromium()}`);
