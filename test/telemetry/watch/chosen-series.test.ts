import { expect, test } from "vitest";
import { ChosenSeries, MAX_SERIES, seriesChoice } from "../../../src/telemetry/watch/chosen-series.ts";
import { parseExposition } from "../../../src/telemetry/watch/exposition.ts";
import { resourceOf } from "../../../src/telemetry/watch/held-resources.ts";

/** The endpoint's value for a name, according to its type. */
const TEXT = `# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 4
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 1e8
# TYPE process_open_fds gauge
process_open_fds 20
# TYPE process_max_fds gauge
process_max_fds 1024
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.7e9
# TYPE go_goroutines gauge
go_goroutines 9
# TYPE go_memstats_mallocs_total counter
go_memstats_mallocs_total 12345
# TYPE nodejs_heap_size_used_bytes gauge
nodejs_heap_size_used_bytes 5e7
# TYPE http_requests_total counter
http_requests_total{code="200",path="/v1"} 7
http_requests_total{code="429",path="/v1"} 1
# TYPE http_requests_in_progress gauge
http_requests_in_progress 3
# TYPE http_request_duration_seconds histogram
http_request_duration_seconds_bucket{le="1"} 7
http_request_duration_seconds_bucket{le="+Inf"} 8
http_request_duration_seconds_sum 3.5
http_request_duration_seconds_count 8
# TYPE envoy_http_downstream_rq_total counter
envoy_http_downstream_rq_total 8
# TYPE frequest_total counter
frequest_total 1
`;

function chosenOf(pattern?: RegExp): ChosenSeries {
  const choice = seriesChoice(pattern);
  const chosen = new ChosenSeries(choice);
  chosen.take(parseExposition(TEXT, choice.byName).samples);
  return chosen;
}

test("by default: process, runtime and counters of requests", () => {
  expect(chosenOf().series.map(({ text, kind }) => `${kind} ${text}`)).toEqual([
    "counter process_cpu_seconds_total",
    "gauge process_resident_memory_bytes",
    "gauge process_open_fds",
    "gauge go_goroutines",
    "gauge nodejs_heap_size_used_bytes",
    'counter http_requests_total{code="200",path="/v1"}',
    'counter http_requests_total{code="429",path="/v1"}',
    "counter http_request_duration_seconds_count",
    "counter envoy_http_downstream_rq_total",
  ]);
});

test.each<[pattern: RegExp, texts: string[]]>([
  [/^go_/, ["go_goroutines", "go_memstats_mallocs_total"]],
  [/code="4/, ['http_requests_total{code="429",path="/v1"}']],
  [/duration/, ["http_request_duration_seconds_sum", "http_request_duration_seconds_count"]],
  [
    /duration_seconds_bucket/,
    ['http_request_duration_seconds_bucket{le="1"}', 'http_request_duration_seconds_bucket{le="+Inf"}'],
  ],
  [/^nothing$/, []],
])("%s selects the names that contain it", (pattern, texts) => {
  expect(chosenOf(pattern).series.map(({ text }) => text)).toEqual(texts);
});

test("a later series is kept, one that disappears has no value, and those beyond the limit are listed", () => {
  const chosen = new ChosenSeries(seriesChoice(undefined));
  const of = (name: string, value: number, path = "") => ({
    ...{ name, value, kind: "counter" as const },
    labels: path === "" ? {} : { path },
  });
  expect(chosen.take([of("a", 1), of("b", Number.NaN)])).toEqual([1, null]);
  expect(chosen.take([of("c", 3), of("b", 2)])).toEqual([null, 2, 3]);
  const many = Array.from({ length: 60 }, (_, index) => of("d", index, `/${index}`));
  expect(chosen.take(many).slice(0, 4)).toEqual([null, null, null, 0]);
  expect(chosen.series).toHaveLength(MAX_SERIES);
  expect(chosen.dropped).toEqual([{ name: "d", series: 13 }]);
  // The same ones are not counted again.
  chosen.take(many);
  expect(chosen.dropped).toEqual([{ name: "d", series: 13 }]);
});

test.each([
  ["process_resident_memory_bytes", "bytes"],
  ["go_memstats_heap_inuse_bytes", "bytes"],
  ["jvm_memory_used_bytes", "bytes"],
  ["process_virtual_memory_bytes", undefined],
  ["jvm_memory_max_bytes", undefined],
  ["process_open_fds", "count"],
  ["process_max_fds", undefined],
  ["go_goroutines", "count"],
  ["go_threads", "count"],
  ["nodejs_active_handles_total", "count"],
  ["envoy_cluster_upstream_cx_active", undefined],
  ["db_pool_connections", "count"],
  ["db_pool_max_connections", undefined],
  ["nodejs_eventloop_lag_seconds", undefined],
])("%s is held as %s", (name, unit) => {
  expect(resourceOf(name)?.unit).toBe(unit);
});
