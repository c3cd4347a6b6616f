using System.Globalization;

namespace ActOp.Staging.Measuring;

/// <summary>
/// How many processors the process may use, p of the model: a container's quota may be a fraction, which
/// <see cref="Environment.ProcessorCount"/> rounds up.
/// </summary>
internal static class ProcessorQuota
{
    private const string Unified = "/sys/fs/cgroup/cpu.max";
    private const string Quota = "/sys/fs/cgroup/cpu/cpu.cfs_quota_us";
    private const string Period = "/sys/fs/cgroup/cpu/cpu.cfs_period_us";

    /// <summary>Processors, above zero.</summary>
    internal static double Read()
    {
        var quota = Parse(SystemFile.FirstLine(Unified)) ?? Parse(SystemFile.FirstLine(Quota) + " " + SystemFile.FirstLine(Period));
        return Math.Min(Environment.ProcessorCount, quota ?? double.PositiveInfinity);
    }

    /// <summary>"quota period" in microseconds; null for no limit ("max" or -1).</summary>
    internal static double? Parse(string text)
    {
        var parts = text.Split(' ', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        return parts.Length == 2
            && double.TryParse(parts[0], NumberStyles.Float, CultureInfo.InvariantCulture, out var quota)
            && double.TryParse(parts[1], NumberStyles.Float, CultureInfo.InvariantCulture, out var period)
            && quota > 0 && period > 0 ? quota / period : null;
    }
}

/// <summary>Reads files of the operating system such as those in /proc.</summary>
internal static class SystemFile
{
    /// <summary>The first line; empty if it cannot be read.</summary>
    internal static string FirstLine(string path)
    {
        try
        {
            return File.Exists(path) ? File.ReadLines(path).FirstOrDefault("") : "";
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }
}
