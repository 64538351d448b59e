import Link from 'next/link';
import { fibres, yarnsOf } from '../../shared/yarns.ts';
import { Ball } from '../components/Ball.tsx';

export default async function Yarns({ searchParams }: PageProps<'/'>) {
  const { fibre: chosen } = await searchParams;
  return (
    <>
      <h1>Yarn from the islands</h1>
      <nav className="filter" aria-label="Fibre">
        <Link href="/" className={chosen ? '' : 'is-chosen'}>
          all
        </Link>
        {fibres.map((fibre) => (
          <Link key={fibre} href={`/?fibre=${fibre}`} className={fibre === chosen ? 'is-chosen' : ''}>
            {fibre}
          </Link>
        ))}
      </nav>
      <ul className="yarns">
        {yarnsOf(chosen).map(({ id, name, fibre, price, colour }) => (
          <li key={id}>
            <Link href={`/yarns/${id}`} className="card">
              <Ball colour={colour} />
              <b>{name}</b>
              <small>
                {fibre}, € {price}
              </small>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
