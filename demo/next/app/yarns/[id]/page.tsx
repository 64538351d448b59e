import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { findYarn } from '../../../../shared/yarns.ts';
import { Ball } from '../../../components/Ball.tsx';
import { Basket } from '../../../components/Basket.tsx';

export const generateMetadata = async ({ params }: PageProps<'/yarns/[id]'>): Promise<Metadata> => ({
  title: findYarn((await params).id)?.name ?? 'No such yarn',
});

export default async function YarnPage({ params }: PageProps<'/yarns/[id]'>) {
  const yarn = findYarn((await params).id);
  if (!yarn) notFound();
  const { id, name, fibre, price, colour, about } = yarn;
  return (
    <article className="card detail">
      <Ball colour={colour} large />
      <div>
        <h1>{name}</h1>
        <p>{about}</p>
        <p className="soft">
          100 g of {fibre}, € {price}
        </p>
        <Basket yarn={id} price={price} />
      </div>
    </article>
  );
}
