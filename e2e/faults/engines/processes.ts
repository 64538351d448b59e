import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

interface Process {
  pid: number;
  parent: number;
  group: number;
  args: string[];
}

/** For macOS, which has no /proc. */
const askPs = (): Process[] =>
  execFileSync('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,args='], { encoding: 'utf8', maxBuffer: 2 ** 24 })
    .split('\n')
    .flatMap((line): Process[] => {
      const [pid, parent, group, state, ...args] = line.trim().split(/\s+/);
      return !pid || state?.startsWith('Z')
        ? []
        : [{ pid: Number(pid), parent: Number(parent), group: Number(group), args }];
    });

const readProc = (): Process[] =>
  readdirSync('/proc').flatMap((name): Process[] => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // A zombie has ended, and its parent has not read its status yet.
      if (state === 'Z') return [];
      const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return [{ pid: Number(name), parent: Number(parent), group: Number(group), args }];
    } catch {
      return [];
    }
  });

const listProcesses = process.platform === 'linux' ? readProc : askPs;

/** The process that was started on this profile. */
export const ownerOf = (profile: string): number | undefined =>
  listProcesses().find(({ args }) => args.some((arg) => arg === profile || arg.endsWith(`=${profile}`)))?.pid;

/** Whether the group of this process has any process left. */
export const hasGroup = (leader: number): boolean => listProcesses().some(({ group }) => group === leader);

/** The process, its group, and all of their descendants. */
export const treeOf = (root: number): Set<number> => {
  const tree = new Set([root]);
  const all = listProcesses();
  for (let size = 0; size < tree.size; ) {
    size = tree.size;
    for (const { pid, parent, group } of all) if (tree.has(parent) || group === root) tree.add(pid);
  }
  return tree;
};

/** SIGKILL to these processes. Resolves when they are gone. */
export const killAll = async (pids: ReadonlySet<number>): Promise<void> => {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {}
  }
  while (listProcesses().some(({ pid }) => pids.has(pid))) await pause(10);
};

/** SIGKILL to a process and all below it. Resolves when they are gone. */
export const killTree = (root: number): Promise<void> => killAll(treeOf(root));
