// Finds redis-server, which the tests of the broker and of `redisSeen` start for themselves, or installs Debian's package.
import { execFileSync } from 'node:child_process';
import { hasRedis } from './support/hasRedis.ts';

const tryTo = (command: string, args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
    return true;
  } catch {
    return false;
  }
};

if (!hasRedis() && process.platform === 'linux' && process.getuid?.() === 0) {
  const apt = ['-o', 'DPkg::Lock::Timeout=300'];
  // Debian's package starts a service. The tests start a server of their own, and never use that service.
  if (tryTo('apt-get', [...apt, 'update']))
    tryTo('apt-get', [...apt, 'install', '-y', '--no-install-recommends', 'redis-server']);
}
if (!hasRedis()) {
  console.error(
    'No redis-server found: the tests of test/broker and of `redisSeen` are skipped. ' +
      'To run them, install it (Debian: apt-get install redis-server; macOS: brew install redis).',
  );
  // On CI a missing Redis must not hide a fault.
  if (process.env.CI === 'true') process.exit(1);
}
