import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

interface Process {
  pid: number;
  parent: number;
  args: string[];
}

/** Without /proc: macOS. */
const askPs = (): Process[] =>
  execFileSync('ps', ['-axo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8', maxBuffer: 2 ** 24 })
    .split('\n')
    .flatMap((line): Process[] => {
      const [pid, parent, state, ...args] = line.trim().split(/\s+/);
      return !pid || state?.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
    });

const readProc = (): Process[] =>
  readdirSync('/proc').flatMap((name): Process[] => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // One that has ended and that nobody has asked after yet.
      if (state === 'Z') return [];
      const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return [{ pid: Number(name), parent: Number(parent), args }];
    } catch {
      return [];
    }
  });

const listProcesses = process.platform === 'linux' ? readProc : askPs;

/** The process that was started on this profile. */
export const ownerOf = (profile: string): number | undefined =>
  listProcesses().find(({ args }) => args.some((arg) => arg === profile || arg.endsWith(`=${profile}`)))?.pid;

/** The process and all that it, or what it has started, has started. */
const treeOf = (root: number): Set<number> => {
  const tree = new Set([root]);
  const all = listProcesses();
  for (let size = 0; size < tree.size; ) {
    size = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  return tree;
};

/** SIGKILL to a process and all below it; resolves when they are gone. */
export const killTree = async (root: number): Promise<void> => {
  const tree = treeOf(root);
  for (const pid of tree) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {}
  }
  while (listProcesses().some(({ pid }) => tree.has(pid))) await pause(10);
};
