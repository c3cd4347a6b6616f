using System.Globalization;

namespace Heartbeat.Load;

/// <summary>Segments as one argument: <c>name:seconds:rate:concurrency:entries</c>, with commas between segments.</summary>
public static class Schedule
{
    private const int Fields = 5;

    /// <summary>Writes segments; names contain neither colons nor commas.</summary>
    public static string Print(params IEnumerable<Segment> segments) => string.Join(',', segments.Select(segment =>
        string.Create(CultureInfo.InvariantCulture, $"{segment.Name}:{segment.Seconds:R}:{segment.Rate:R}:{segment.Concurrency}:{segment.Entries}")));

    /// <summary>Reads what <see cref="Print"/> wrote.</summary>
    /// <exception cref="FormatException">The text is something else.</exception>
    public static Segment[] Parse(string text) => [.. text.Split(',', StringSplitOptions.RemoveEmptyEntries).Select(ParseOne)];

    private static Segment ParseOne(string text)
    {
        string[] parts = text.Split(':');
        if (parts.Length != Fields)
            throw new FormatException($"A segment of the load has {Fields} parts: '{text}'.");
        return new Segment(parts[0], Number(parts[1]), Number(parts[2]), (int)Number(parts[3]), (int)Number(parts[4]));
    }

    private static double Number(string text) => double.Parse(text, NumberStyles.Float, CultureInfo.InvariantCulture);
}
