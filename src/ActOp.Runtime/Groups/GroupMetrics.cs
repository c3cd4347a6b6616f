using System.Diagnostics.Metrics;

namespace ActOp.Runtime.Groups;

/// <summary>
/// The metrics of groups on the meter of the runtime. At most <see cref="Configuration.GroupsOptions.MaxSeries"/> groups have series of
/// their own, the first by name; the others are added up.
/// </summary>
internal static class GroupMetrics
{
    private const string Others = "(others)";

    internal static void Observe(Meter meter, NodeGroups groups)
    {
        var names = groups.All.Select(static group => group.Name).Order(StringComparer.Ordinal).Take(groups.MaxSeries).ToHashSet();
        Series[] series = [.. groups.All.GroupBy(group => names.Contains(group.Name) ? group.Name : Others)
            .Select(static same => new Series(same.Key, [.. same]))];
        Counter("actop.groups.time", "s", "Time for which the group has held threads of the work stage.",
            static group => group.Used / 1e6);
        UpDown("actop.groups.debt", "s", "Time that the group had used too much when it last ran.",
            static group => group.Debt / 1e6);
        UpDown("actop.groups.ready", null, "Activations of the group that wait for a thread.", static group => group.Ready);
        UpDown("actop.groups.held", null, "Activations of the group whose next request costs more than what is left of the interval.",
            static group => group.Held);
        UpDown("actop.groups.activations", null, "Activations of the group.", static group => group.Activations);
        UpDown("actop.groups.queued", null, "Requests that wait for grains of the group; counted only with MaxQueued.",
            static group => group.Queued);
        meter.CreateObservableGauge("actop.groups.wait.p99",
            () => series.Select(static one => one.Max(static group => group.WaitP99 / 1e6)), "s",
            "How long the group waits for a thread when it has something to run: 99th percentile of its last some thousand waits.");
        meter.CreateObservableCounter("actop.groups.refused", () => Refused(series),
            description: "Requests and activations that a limit of the group has refused.");
        meter.CreateObservableCounter("actop.groups.selector.failures", () => groups.SelectorFailures,
            description: "Activations for which GroupsOptions.Select has thrown or named an unknown group.");

        void Counter(string name, string? unit, string description, Func<GrainGroup, double> value) =>
            meter.CreateObservableCounter(name, () => series.Select(one => one.Sum(value)), unit, description);

        void UpDown(string name, string? unit, string description, Func<GrainGroup, double> value) =>
            meter.CreateObservableUpDownCounter(name, () => series.Select(one => one.Sum(value)), unit, description);
    }

    private static IEnumerable<Measurement<long>> Refused(Series[] series)
    {
        foreach (var one in series)
        {
            foreach (var limit in Enum.GetValues<GroupLimit>())
            {
                yield return new Measurement<long>(one.Groups.Sum(group => group.Refused(limit)),
                    new KeyValuePair<string, object?>("group", one.Name),
                    new KeyValuePair<string, object?>("limit", GrainGroup.NameOf(limit)));
            }
        }
    }

    private sealed record Series(string Name, GrainGroup[] Groups)
    {
        internal Measurement<double> Sum(Func<GrainGroup, double> value) => Measure(Groups.Sum(value));

        internal Measurement<double> Max(Func<GrainGroup, double> value) => Measure(Groups.Max(value));

        private Measurement<double> Measure(double value) => new(value, new KeyValuePair<string, object?>("group", Name));
    }
}
