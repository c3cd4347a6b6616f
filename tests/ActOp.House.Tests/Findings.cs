namespace ActOp.House.Tests;

/// <summary>Says everything that was found, a line each.</summary>
internal static class Findings
{
    /// <summary>Fails unless a list of permitted exceptions has exactly these, each with a reason.</summary>
    public static void AreListed(IEnumerable<string> found, string list)
    {
        string[] all = [.. found];
        var listed = Repository.List(list);
        None(all.Except(listed.Keys).Select(static name => name + " is new")
            .Concat(listed.Keys.Except(all).Select(static name => name + " is gone: remove it from the list"))
            .Concat(listed.Where(static one => one.Value.Length == 0).Select(static one => one.Key + " has no reason")));
    }

    /// <summary>Fails with the whole list unless it is empty.</summary>
    public static void None<T>(IEnumerable<T> findings)
    {
        string[] lines = [.. findings.Select(static finding => finding!.ToString()!)];
        if (lines.Length > 0)
            Assert.Fail($"{lines.Length} found:\n{string.Join('\n', lines)}");
    }
}
