import { Link, useParams } from 'react-router';
import { findYarn } from '../../../shared/yarns.ts';
import { Ball } from '../Ball.tsx';
import { useAppTracker } from '../tracker.ts';

export const YarnPage = () => {
  const tracker = useAppTracker();
  const yarn = findYarn(useParams().id);
  if (!yarn)
    return (
      <p>
        There is no such yarn. <Link to="/">Look at all of them.</Link>
      </p>
    );
  const { id, name, fibre, price, colour, about } = yarn;
  return (
    <>
      <title>{`${name} · Ariadne Yarns`}</title>
      <article className="card detail">
        <Ball colour={colour} large />
        <div>
          <h1>{name}</h1>
          <p>{about}</p>
          <p className="soft">
            100 g of {fibre}, € {price}
          </p>
          <button type="button" className="primary" onClick={() => tracker.track('yarn added', { yarn: id, price })}>
            Add to basket
          </button>
        </div>
      </article>
    </>
  );
};
