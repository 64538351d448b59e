import type { Mutant } from './mutant.ts';

/** Mutants of the handover of a page that leaves, and of a later page's question whether it arrived. */
export const receiptMutants: readonly Mutant[] = [
  {
    name: 'receipts: settles a handover that the relay does not know',
    file: 'courier/question.ts',
    find: "handovers?.[at] === 'taken'",
    replace: "['taken', 'unknown'].includes(handovers?.[at] ?? '')",
  },
  {
    name: 'receipts: sends a handover again that the relay has taken',
    file: 'courier/send.ts',
    find: 'const takenIds = taken.flatMap(({ ids }) => ids);',
    replace: 'const takenIds = taken.flatMap(() => []);',
  },
  {
    name: 'receipts: asks for ever about a handover that did not arrive',
    file: 'courier/send.ts',
    find: '    receipts?.drop(others);\n',
    replace: '',
  },
  {
    name: 'receipts: drops the note of a handover before the answer',
    file: 'courier/send.ts',
    find: '    const answering = ask(() => ports.send(sent, false, packed));\n',
    replace: '    receipts?.drop(questions);\n    const answering = ask(() => ports.send(sent, false, packed));\n',
  },
  {
    name: 'receipts: notes no handover',
    file: 'courier/handover.ts',
    find: 'if (id) receipts?.write({ id, ids: items.map(idOf), isArmed, isUpsert: path === UPSERT_PATH });',
    replace:
      'if (id && isArmed) receipts?.write({ id, ids: items.map(idOf), isArmed, isUpsert: path === UPSERT_PATH });',
  },
  {
    name: 'receipts: notes no request that is in flight as its page leaves',
    file: 'courier/courier.ts',
    find: 'if (id) receipts?.write({ id, ids });',
    replace: '',
  },
  {
    name: 'receipts: the relay forgets the ids of handovers',
    file: 'relay/receipts.ts',
    find: '(isTaken ? seen.confirm(ids) : seen.release(ids, owner))',
    replace: '(isTaken && !id ? seen.confirm(ids) : seen.release(ids, owner))',
  },
  {
    name: 'receipts: a later page does not know what the relay has taken of a journal',
    file: 'courier/send.ts',
    find: '    if (takenIds[0]) ports.farewell.settle([], takenIds);\n',
    replace: '',
  },
  {
    name: 'receipts: the relay calls a handover taken that it does not know',
    file: 'relay/receipts.ts',
    find: "if (found[at] === 'taken') return 'taken';",
    replace: "if (found[at] !== 'pending') return 'taken';",
  },
  {
    name: 'receipts: the relay calls a handover taken that the service has refused',
    file: 'relay.ts',
    find: 'isTaken = done.isWhole;',
    replace: 'isTaken = true;',
  },
];
