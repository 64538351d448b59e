import { Link, useSearchParams } from 'react-router';
import { yarnsOf } from '../../../shared/yarns.ts';
import { Ball } from '../Ball.tsx';

export const Yarns = () => {
  const [query] = useSearchParams();
  return (
    <>
      <title>Yarns · Ariadne Yarns</title>
      <h1>A thread for every maze</h1>
      <nav className="filter" aria-label="Fibre">
        <Link to="/">All</Link>
        <Link to="/?fibre=wool">Wool</Link>
        <Link to="/?fibre=linen">Linen</Link>
      </nav>
      <ul className="yarns">
        {yarnsOf(query.get('fibre')).map(({ id, name, fibre, price, colour }) => (
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
