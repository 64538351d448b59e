export interface Yarn {
  id: string;
  name: string;
  fibre: 'wool' | 'linen';
  /** In euro, for 100 g. */
  price: number;
  colour: string;
  about: string;
}

export const yarns: Yarn[] = [
  {
    id: 'madder',
    name: 'Madder',
    fibre: 'wool',
    price: 12,
    colour: '#b3274a',
    about: 'Red from the root of a plant that has dyed wool since there was wool.',
  },
  {
    id: 'sea',
    name: 'Sea',
    fibre: 'linen',
    price: 14,
    colour: '#2a7f96',
    about: 'Cool on the skin, and as blue as the way to Naxos.',
  },
  {
    id: 'ochre',
    name: 'Ochre',
    fibre: 'wool',
    price: 11,
    colour: '#c08a2b',
    about: 'The yellow of old walls. Easy to follow in the dark.',
  },
  {
    id: 'sage',
    name: 'Sage',
    fibre: 'linen',
    price: 13,
    colour: '#6d8a5a',
    about: 'A quiet green that goes with everything, mazes too.',
  },
];

export const findYarn = (id: unknown): Yarn | undefined => yarns.find((yarn) => yarn.id === id);

/** The fibres by which the list can be filtered. */
export const fibres = ['wool', 'linen'] as const;

/** All yarns, or those of one fibre. */
export const yarnsOf = (fibre: unknown): Yarn[] => yarns.filter((yarn) => !fibre || yarn.fibre === fibre);
