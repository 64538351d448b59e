/**
 * The tables. Each statement can run again. Joins find the customer of an event (event → visitor id → customer). So a visitor id
 * that moves to another customer takes its earlier events along, and no event is rewritten.
 *
 * `events.event` has no index, because a btree refuses long values: a long name would lead to a 500. No query needs one, because
 * journeys are matched while an event is stored.
 */
export const SCHEMA = [
  `create table if not exists settings (
    name  text primary key,
    value text
  )`,
  `create table if not exists customers (
    seq         bigint generated always as identity unique,
    id          uuid primary key default gen_random_uuid(),
    primary_key text unique,
    properties  jsonb not null default '{}'
  )`,
  `create table if not exists visitor_ids (
    seq               bigint generated always as identity,
    correlation_value uuid primary key,
    customer_id       uuid not null references customers
  )`,
  `create index if not exists visitor_ids_by_customer on visitor_ids (customer_id)`,
  `create table if not exists events (
    seq               bigint generated always as identity primary key,
    uuid              uuid not null unique,
    timestamp         timestamptz not null,
    event             text not null,
    source            text not null,
    correlation_key   text not null,
    correlation_value uuid not null,
    payload           jsonb,
    received_at       timestamptz not null default now()
  )`,
  `create table if not exists journeys (
    seq    bigint generated always as identity unique,
    id     uuid primary key default gen_random_uuid(),
    name   text not null,
    event  text not null,
    filter jsonb
  )`,
  `create table if not exists firings (
    journey_id  uuid not null references journeys on delete cascade,
    event_seq   bigint not null references events,
    customer_id uuid not null references customers,
    at          timestamptz not null default clock_timestamp(),
    primary key (journey_id, event_seq)
  )`,
  `create index if not exists firings_by_customer on firings (customer_id)`,
  `create index if not exists firings_by_event on firings (event_seq)`,
];
