"""Files that .proto schemas import without a registry holding them: Confluent's own types and Google's common ones.

Sources: github.com/confluentinc/schema-registry (ProtobufSchema), github.com/googleapis/googleapis (google/type). What
comes with Protobuf itself is its library's.
"""


def _google(body: str) -> str:
    return f'syntax = "proto3"; package google.type; {body}'


def _choices(name: str, first: str, *others: str) -> str:
    named = "".join(f"{word} = {number};" for number, word in enumerate((first, *others)))
    return _google(f"enum {name} {{ {named} }}")


TEXTS = {
    "confluent/type/decimal.proto": 'syntax = "proto3"; package confluent.type;'
    "message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }",
    "confluent/type/variant.proto": 'syntax = "proto3"; package confluent.type;'
    "message Variant { bytes metadata = 1; bytes value = 2; }",
    "google/type/date.proto": _google("message Date { int32 year = 1; int32 month = 2; int32 day = 3; }"),
    "google/type/datetime.proto": _google(
        'import "google/protobuf/duration.proto";'
        "message DateTime { int32 year = 1; int32 month = 2; int32 day = 3; int32 hours = 4; int32 minutes = 5;"
        "int32 seconds = 6; int32 nanos = 7;"
        "oneof time_offset { google.protobuf.Duration utc_offset = 8; TimeZone time_zone = 9; } }"
        "message TimeZone { string id = 1; string version = 2; }"
    ),
    "google/type/dayofweek.proto": _choices(
        *("DayOfWeek", "DAY_OF_WEEK_UNSPECIFIED", "MONDAY", "TUESDAY", "WEDNESDAY"),
        *("THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"),
    ),
    "google/type/decimal.proto": _google("message Decimal { string value = 1; }"),
    "google/type/interval.proto": _google(
        'import "google/protobuf/timestamp.proto";'
        "message Interval { google.protobuf.Timestamp start_time = 1; google.protobuf.Timestamp end_time = 2; }"
    ),
    "google/type/latlng.proto": _google("message LatLng { double latitude = 1; double longitude = 2; }"),
    "google/type/money.proto": _google("message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }"),
    "google/type/month.proto": _choices(
        *("Month", "MONTH_UNSPECIFIED", "JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY"),
        *("AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER"),
    ),
    "google/type/timeofday.proto": _google(
        "message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }"
    ),
}
