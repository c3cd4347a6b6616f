namespace ActOp.Harness.Processes;

/// <summary>The repository around this program.</summary>
public static class RepositoryFolder
{
    /// <summary>The folder of ActOp.sln.</summary>
    /// <exception cref="InvalidOperationException">This program is not in the repository.</exception>
    public static string Find()
    {
        for (DirectoryInfo? folder = new(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "ActOp.sln")))
                return folder.FullName;
        }

        throw new InvalidOperationException("This program does not run from below the repository's root.");
    }
}
