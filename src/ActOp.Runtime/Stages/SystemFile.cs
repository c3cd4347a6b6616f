namespace ActOp.Runtime.Stages;

/// <summary>Files in which the system says something about itself.</summary>
internal static class SystemFile
{
    /// <summary>The first line; empty when there is none to be had.</summary>
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
