namespace ActOp.House.Tests;

/// <summary>Says everything that was found, a line each.</summary>
internal static class Findings
{
    /// <summary>Fails with the whole list unless it is empty.</summary>
    public static void None<T>(IEnumerable<T> findings)
    {
        string[] lines = [.. findings.Select(static finding => finding!.ToString()!)];
        if (lines.Length > 0)
            Assert.Fail($"{lines.Length} found:\n{string.Join('\n', lines)}");
    }
}
