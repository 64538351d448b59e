import { type FloorEvent, post, WAIT } from './floor.js';

/** The durable floor: the bare floor, with the events of each task in one record of IndexedDB until they have been sent. */
const opening = indexedDB.open('floor', 1);
opening.onupgradeneeded = () => opening.result.createObjectStore('tasks', { autoIncrement: true });
const opened = new Promise<IDBDatabase>((resolve) => {
  opening.onsuccess = () => resolve(opening.result);
});

const transact = async (work: (tasks: IDBObjectStore) => void) => {
  const transaction = (await opened).transaction('tasks', 'readwrite');
  work(transaction.objectStore('tasks'));
  transaction.commit();
};

let task: FloorEvent[] = [];
let isWaiting = false;

const store = () => {
  const events = task;
  task = [];
  transact((tasks) => tasks.add(events));
};

const send = () => {
  isWaiting = false;
  transact((tasks) => {
    const reading = tasks.getAll();
    reading.onsuccess = async () => {
      await post((reading.result as FloorEvent[][]).flat());
      transact((sent) => sent.clear());
    };
  });
};

window.track = (event, payload) => {
  if (!task[0]) queueMicrotask(store);
  if (!isWaiting) setTimeout(send, WAIT);
  isWaiting = true;
  task.push({ timestamp: Date.now(), event, payload });
};
