using Heartbeat.Options;

namespace Heartbeat.Runs;

/// <summary>Names of the segments that most cells have.</summary>
public static class SegmentNames
{
    /// <summary>
    /// A closed loop in which code is compiled: at the full rate, cold code would leave a backlog of thousands of requests.
    /// </summary>
    public const string Compile = "compile";

    /// <summary>Load that does not count.</summary>
    public const string Warmup = "warmup";

    /// <summary>Load that counts.</summary>
    public const string Measure = "measure";

    /// <summary>No load, until what is in flight is answered.</summary>
    public const string Rest = "rest";

    /// <summary>The load that counts of one of several levels.</summary>
    public static string MeasureOf(LoadLevel load) => $"{Measure} {load}";
}
