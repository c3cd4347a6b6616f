using System.ComponentModel;

namespace System.Runtime.CompilerServices;

/// <summary>Lets records and init accessors compile for netstandard2.0.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
internal static class IsExternalInit
{
}
