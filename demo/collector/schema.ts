/**
 * The tables, each statement safe to run again. What a row belongs to is settled by joins (event → visitor id → customer), so a
 * visitor id that changes hands takes its earlier events along without a single event being rewritten.
 *
 * `events.event` has no index on purpose: nothing looks events up by name (journeys are matched while an event is stored), and
 * a btree refuses long values, which would turn a long name into a 500.
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
