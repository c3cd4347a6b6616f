using System.Text.RegularExpressions;

namespace Orleans.Runtime.Configuration;

/// <summary>Texts of configurations for people.</summary>
public static partial class ConfigUtilities
{
    private const string Removed = "<--SNIP-->";

    /// <summary>A connection string without its keys and passwords, for logs. Null and empty texts have none.</summary>
    public static string RedactConnectionStringInfo(string? connectionString) =>
        connectionString is null ? "" : Secret().Replace(connectionString, "$1=" + Removed);

    /// <summary>The value goes on to the next semicolon that a further key follows: values of keys end with signs of their own.</summary>
    [GeneratedRegex(
        @"(?i)\b(AccountKey|SharedAccessKey|SharedAccessSignature|AccessKey|Secret|SecretKey|Password|Pwd)\s*=.*?(?=;\s*[\w ]+=|$)",
        RegexOptions.None, 1000)]
    private static partial Regex Secret();
}
