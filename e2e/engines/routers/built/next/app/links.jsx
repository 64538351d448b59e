import Link from 'next/link';

const NAMES = ['one', 'two', 'three', 'old'];

export const Links = ({ base }) => (
  <nav>
    {NAMES.map((name) => (
      <Link key={name} id={name} href={`/${base}/${name}`}>
        {name}
      </Link>
    ))}
  </nav>
);
