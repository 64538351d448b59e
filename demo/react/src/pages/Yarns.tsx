import { Link, useSearchParams } from 'react-router';
import { fibres, yarnsOf } from '../../../shared/yarns.ts';
import { Ball } from '../Ball.tsx';

export const Yarns = () => {
  const chosen = useSearchParams()[0].get('fibre');
  return (
    <>
      <title>Yarns · Ariadne Yarns</title>
      <h1>Yarn from the islands</h1>
      <nav className="filter" aria-label="Fibre">
        <Link to="/" className={chosen ? '' : 'is-chosen'}>
          all
        </Link>
        {fibres.map((fibre) => (
          <Link key={fibre} to={`/?fibre=${fibre}`} className={fibre === chosen ? 'is-chosen' : ''}>
            {fibre}
          </Link>
        ))}
      </nav>
      <ul className="yarns">
        {yarnsOf(chosen).map(({ id, name, fibre, price, colour }) => (
          <li key={id}>
            <Link to={`/yarns/${id}`} className="card">
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
};
